uniform vec3 fill_srgb;
uniform vec3 outline_srgb;
uniform float size_px;
uniform float outline_px;
uniform float opacity;

out vec4 color;

void main() {
    float from_rim = 0.5 * size_px - length(gl_PointCoord - 0.5) * size_px;
    float cover = clamp(from_rim + 0.25, 0.0, 1.0);
    if (cover <= 0.0) {
        discard;
    }
    // A rim of the other lightness: the dot is seen on any surface, and without colour vision.
    float inside = clamp(from_rim - outline_px + 0.25, 0.0, 1.0);
    color = vec4(mix(outline_srgb, fill_srgb, inside), cover * opacity);
}
