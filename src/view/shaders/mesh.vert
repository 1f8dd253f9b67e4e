uniform mat4 clip_from_view;
uniform mat4 view_from_world;

in vec3 position;
in vec3 normal;
#if SHADING == 0
in vec2 uv;
in uvec4 vertex_color;
#elif SHADING == 2
in float curvature;
#elif HEAT
in float heat;
#endif
#if WEIGHTS
in uvec4 tint;
#endif

out vec3 point_in_view;
out vec3 normal_in_view;
#if SHADING == 0
out vec2 texture_uv;
out vec4 surface_color;
#elif SHADING == 2
out float bend;
#elif HEAT
out float heat_value;
#endif
#if WEIGHTS
out vec4 tint_value;
#endif

void main() {
    vec4 p = view_from_world * vec4(position, 1.0);
    point_in_view = p.xyz;
    normal_in_view = mat3(view_from_world) * normal;
#if SHADING == 0
    texture_uv = uv;
    vec4 stored = vec4(vertex_color) / 255.0;
    surface_color = vec4(stored.rgb * stored.rgb, stored.a);
#elif SHADING == 2
    bend = curvature;
#elif HEAT
    heat_value = heat;
#endif
#if WEIGHTS
    tint_value = vec4(tint) / 255.0;
#endif
    gl_Position = clip_from_view * p;
}
