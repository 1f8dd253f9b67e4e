uniform float opacity;

in vec3 normal_in_view;
in vec3 tint_srgb;

out vec4 color;

void main() {
    // A lamp over the left shoulder gives each face of an octahedron its own grey.
    float lambert = max(dot(normal_in_view, vec3(-0.42, 0.62, 0.66)), 0.0);
    vec3 lit = linear_from_srgb(tint_srgb) * (0.34 + 0.74 * lambert);
    color = vec4(srgb_from_linear(soft_clip(lit)), opacity);
}
