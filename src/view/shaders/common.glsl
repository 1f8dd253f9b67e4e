// Shared by all fragment shaders: light is added in linear values, the picture is stored sRGB-encoded.

vec3 linear_from_srgb(vec3 c) {
    vec3 low = c / 12.92;
    vec3 high = pow((c + 0.055) / 1.055, vec3(2.4));
    return mix(low, high, step(vec3(0.04045), c));
}

vec3 srgb_from_linear(vec3 c) {
    c = clamp(c, 0.0, 1.0);
    vec3 low = c * 12.92;
    vec3 high = 1.055 * pow(c, vec3(1.0 / 2.4)) - 0.055;
    return mix(low, high, step(vec3(0.0031308), c));
}

// Bends values above 0.75 towards 1, so that a highlight keeps its shape instead of clipping flat.
vec3 soft_clip(vec3 c) {
    const float KNEE = 0.75;
    vec3 over = max(c - KNEE, 0.0);
    return min(c, KNEE) + (1.0 - KNEE) * (1.0 - exp(-over / (1.0 - KNEE)));
}

// Half a step of fixed noise in the 8-bit result: the background's slow gradient shows no bands.
// Jimenez 2014, interleaved gradient noise.
vec3 dither(vec3 c) {
    float noise = fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715))));
    return c + (noise - 0.5) / 255.0;
}
