uniform mat4 clip_from_world;
uniform mat4 view_from_world;

in vec3 position;
in vec3 normal;
in vec3 tint;

out vec3 normal_in_view;
out vec3 tint_srgb;

void main() {
    normal_in_view = mat3(view_from_world) * normal;
    tint_srgb = tint;
    gl_Position = clip_from_world * vec4(position, 1.0);
}
