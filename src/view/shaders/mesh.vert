uniform mat4 clip_from_view;
uniform mat4 view_from_world;

in vec3 position;
in vec3 normal;
in vec2 uv;
in float heat;

out vec3 point_in_view;
out vec3 normal_in_view;
out vec2 texture_uv;
out float heat_value;

void main() {
    vec4 p = view_from_world * vec4(position, 1.0);
    point_in_view = p.xyz;
    normal_in_view = mat3(view_from_world) * normal;
    texture_uv = uv;
    heat_value = heat;
    gl_Position = clip_from_view * p;
}
