uniform vec2 origin_place;
uniform vec2 centre;
uniform float cell;
uniform float blend;
uniform float fade_radius;
uniform float width_px;
uniform vec3 line_srgb;
uniform float strength;
uniform vec3 across_srgb;
uniform vec3 along_srgb;

in vec2 place;

out vec4 color;

// Share of the pixel that lines `size` metres apart cover; none where they would run together.
float lines(float size, vec2 pixel) {
    vec2 in_cells = place / size;
    vec2 from_line = abs(fract(in_cells - 0.5) - 0.5) * size / pixel;
    vec2 cover = clamp(0.5 * width_px + 0.5 - from_line, 0.0, 1.0);
    cover *= 1.0 - smoothstep(0.10, 0.35, pixel / size);
    return max(cover.x, cover.y);
}

float axis(float distance_m, float pixel) {
    return clamp(0.75 * width_px + 0.5 - abs(distance_m) / pixel, 0.0, 1.0);
}

void main() {
    vec2 pixel = max(fwidth(place), vec2(1e-12));
    // Each decade takes over the strength of the next one while the camera comes closer: no line pops.
    float cover = lines(cell, pixel) * mix(0.30, 0.0, blend);
    cover = max(cover, lines(cell * 10.0, pixel) * mix(0.65, 0.30, blend));
    cover = max(cover, lines(cell * 100.0, pixel) * mix(1.0, 0.65, blend));
    cover = max(cover, lines(cell * 1000.0, pixel));
    cover *= strength;

    vec3 srgb = line_srgb;
    float on_across = axis(place.y + origin_place.y, pixel.y);
    float on_along = axis(place.x + origin_place.x, pixel.x);
    srgb = mix(srgb, along_srgb, on_along);
    srgb = mix(srgb, across_srgb, on_across);
    cover = max(cover, 0.85 * max(on_across, on_along));

    float fade = 1.0 - smoothstep(0.0, 1.0, length(place + origin_place - centre) / fade_radius);
    color = vec4(srgb, cover * fade * fade);
}
