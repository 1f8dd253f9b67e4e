uniform vec3 top_srgb;
uniform vec3 bottom_srgb;
uniform float height_px;

out vec4 color;

void main() {
    float t = gl_FragCoord.y / height_px;
    color = vec4(dither(mix(bottom_srgb, top_srgb, t)), 1.0);
}
