uniform mat4 clip_from_world;
uniform mat4 view_from_world;
uniform vec2 viewport_px;
// Pixels for a screen point of outline; 0 for the bone itself.
uniform float outline_scale;

in vec3 position;
in vec4 normal;
in vec3 outward;
in vec4 fill;
in vec4 outline;

out vec3 normal_in_view;
out vec4 tint;
// Which corner of its triangle this is, as weights: small near the opposite edge.
out vec3 corner;

void main() {
    normal_in_view = mat3(view_from_world) * normal.xyz;
    int i = gl_VertexID % 3;
    // Where no edges are drawn all corners are far from them.
    corner = normal.w > 0.5 ? vec3(i == 0, i == 1, i == 2) : vec3(1e4);
    vec4 clip = clip_from_world * vec4(position, 1.0);
    tint = fill;
    if (outline_scale > 0.0) {
        // A hull of backs, grown by whole pixels on the screen: what shows of it is the outline.
        tint = vec4(outline.rgb, fill.a);
        vec4 there = clip_from_world * vec4(outward, 0.0);
        vec2 along = (there.xy * clip.w - clip.xy * there.w) * viewport_px;
        float len = length(along);
        vec2 direction = len > 1e-12 ? along / len : vec2(0.0);
        clip.xy += direction * (2.0 * outline.w * outline_scale / viewport_px) * clip.w;
    }
    gl_Position = clip;
}
