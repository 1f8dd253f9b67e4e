uniform mat4 clip_from_view;
uniform mat4 view_from_world;

in vec3 position;
in vec3 normal;
#if SHADING == 0
in vec2 uv;
#elif SHADING == 2
in float heat;
#endif

out vec3 point_in_view;
out vec3 normal_in_view;
#if SHADING == 0
out vec2 texture_uv;
#elif SHADING == 2
out float heat_value;
#endif

void main() {
    vec4 p = view_from_world * vec4(position, 1.0);
    point_in_view = p.xyz;
    normal_in_view = mat3(view_from_world) * normal;
#if SHADING == 0
    texture_uv = uv;
#elif SHADING == 2
    heat_value = heat;
#endif
    gl_Position = clip_from_view * p;
}
