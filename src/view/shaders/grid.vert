uniform mat4 clip_from_world;
uniform vec3 origin;
uniform float extent;

in vec3 position;

// Metres on the ground from `origin`, which lies near the view: small numbers keep far lines straight.
out vec2 place;

void main() {
    place = position.xy * extent;
    vec4 clip = clip_from_world * vec4(origin + vec3(place.x, 0.0, place.y), 1.0);
    // A floor at the same height covers the grid.
    clip.z += 2e-5 * clip.w;
    gl_Position = clip;
}
