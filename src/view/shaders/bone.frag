uniform float opacity;
uniform float edge_px;
uniform float outline_scale;

in vec3 normal_in_view;
in vec4 tint;
in vec3 corner;

out vec4 color;

void main() {
    if (outline_scale > 0.0) {
        color = vec4(tint.rgb, tint.a * opacity);
        return;
    }
    // A lamp over the left shoulder gives each face of an octahedron its own grey.
    float lambert = max(dot(normal_in_view, vec3(-0.42, 0.62, 0.66)), 0.0);
    vec3 lit = linear_from_srgb(tint.rgb) * (0.42 + 0.66 * lambert);
    // Crisp dark edges between the faces.
    vec3 from_edge = corner / max(fwidth(corner), vec3(1e-6));
    float nearest = min(from_edge.x, min(from_edge.y, from_edge.z));
    float edge = 1.0 - smoothstep(edge_px - 0.5, edge_px + 0.5, nearest);
    vec3 srgb = mix(srgb_from_linear(soft_clip(lit)), vec3(0.07, 0.075, 0.08), 0.55 * edge);
    color = vec4(srgb, tint.a * opacity);
}
