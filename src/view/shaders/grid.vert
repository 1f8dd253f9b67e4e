uniform mat4 clip_from_world;
uniform vec3 origin;
uniform vec3 across;
uniform vec3 along;
uniform float behind;
uniform float extent;

in vec3 position;

// Metres in the plane from `origin`, which lies near the view: small numbers keep far lines straight.
out vec2 place;

void main() {
    place = position.xy * extent;
    vec4 clip = clip_from_world * vec4(origin + across * place.x + along * place.y, 1.0);
    // A floor at the same height covers the grid.
    clip.z += 2e-5 * clip.w;
    clip.z = mix(clip.z, (1.0 - 1e-6) * clip.w, behind);
    gl_Position = clip;
}
