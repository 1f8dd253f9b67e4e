uniform vec3 fill_srgb;
uniform vec3 outline_srgb;
uniform float size_px;
uniform float outline_px;
uniform float opacity;
// 0 circle, 1 square, 2 diamond, 3 triangle, 4 cross, 5 star.
uniform int glyph;

out vec4 color;

// Distance to the rim in pixels, positive inside; p is from the centre, y up, and r half the size.
float from_rim_of(vec2 p, float r) {
    vec2 a = abs(p);
    if (glyph == 1) {
        return 0.82 * r - max(a.x, a.y);
    }
    if (glyph == 2) {
        return 0.7071 * (r - a.x - a.y);
    }
    if (glyph == 3) {
        p.y += 0.18 * r;
        return 0.55 * r - max(-p.y, 0.866 * a.x + 0.5 * p.y);
    }
    if (glyph == 4) {
        float arm = 0.36 * r;
        return max(min(r - a.x, arm - a.y), min(r - a.y, arm - a.x));
    }
    if (glyph == 5) {
        // The wedge of one tip, folded onto itself.
        float turn = atan(p.x, p.y);
        float wedge = 1.2566371;
        float folded = abs(mod(turn + 0.5 * wedge, wedge) - 0.5 * wedge);
        vec2 q = length(p) * vec2(sin(folded), cos(folded));
        vec2 tip = vec2(0.0, r);
        vec2 notch = 0.45 * r * vec2(sin(0.5 * wedge), cos(0.5 * wedge));
        vec2 side = normalize(notch - tip);
        return dot(tip - q, vec2(-side.y, side.x));
    }
    return r - length(p);
}

void main() {
    vec2 p = (gl_PointCoord - 0.5) * vec2(size_px, -size_px);
    float from_rim = from_rim_of(p, 0.5 * size_px);
    float cover = clamp(from_rim + 0.25, 0.0, 1.0);
    if (cover <= 0.0) {
        discard;
    }
    // A rim of the other lightness: the dot is seen on any surface, and without colour vision.
    float inside = clamp(from_rim - outline_px + 0.25, 0.0, 1.0);
    color = vec4(mix(outline_srgb, fill_srgb, inside), cover * opacity);
}
