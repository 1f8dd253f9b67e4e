uniform vec3 line_srgb;
uniform float opacity;

out vec4 color;

void main() {
    color = vec4(line_srgb, opacity);
}
