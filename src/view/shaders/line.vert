uniform mat4 clip_from_view;
uniform mat4 view_from_world;
// A little towards the eye, so that an edge wins over the faces it borders: a factor (perspective) and a shift along
// the view (parallel).
uniform vec2 nudge;

in vec3 position;

void main() {
    vec4 p = view_from_world * vec4(position, 1.0);
    gl_Position = clip_from_view * vec4(p.xy * nudge.x, p.z * nudge.x + nudge.y, 1.0);
}
