uniform mat4 clip_from_world;
uniform mat4 view_from_world;

in vec3 position;
in vec3 normal;
in vec3 tint;

out vec3 normal_in_view;
out vec3 tint_srgb;
// Which corner of its triangle this is, as weights: small near the opposite edge.
out vec3 corner;

void main() {
    normal_in_view = mat3(view_from_world) * normal;
    tint_srgb = tint;
    int i = gl_VertexID % 3;
    corner = vec3(i == 0, i == 1, i == 2);
    gl_Position = clip_from_world * vec4(position, 1.0);
}
