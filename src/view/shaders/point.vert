uniform mat4 clip_from_view;
uniform mat4 view_from_world;
// As for lines, and more: a dot reaches over the faces around its point.
uniform vec2 nudge;
uniform float size_px;

in vec3 position;

void main() {
    vec4 p = view_from_world * vec4(position, 1.0);
    gl_Position = clip_from_view * vec4(p.xy * nudge.x, p.z * nudge.x + nudge.y, 1.0);
    gl_PointSize = size_px;
}
