// SHADING is defined by `programs.rs`: 0 textured, 1 clay, 2 form, 4 dim fill behind a wire, 5 heat map; of weights (WEIGHTS)
// 3 what is painted, 6 all bones, 7 numbers of influences, 8 sums. HEAT: 5 or weights. DETAILED adds the pictures that few materials have. A program of its own for each keeps software rendering fast, which computes
// both sides of every branch.
uniform float back_light;
uniform float orthographic;
uniform float highlight;
uniform vec3 accent;
#if SHADING != 2
uniform vec3 up_in_view;
#endif
#if SHADING == 0
uniform vec3 base_color;
uniform float metallic;
uniform float roughness;
uniform float alpha;
uniform float alpha_cutoff;
uniform float blended;
uniform sampler2D base_color_map;
#if DETAILED
uniform sampler2D metallic_roughness_map;
uniform sampler2D occlusion_map;
uniform sampler2D emissive_map;
uniform sampler2D normal_map;
uniform float bumpy;
uniform float normal_scale;
uniform float occlusion_strength;
uniform vec3 emissive;
uniform float unlit;
#endif
#elif SHADING == 2
uniform float bump;
#elif HEAT
#if WEIGHTS
uniform float plain;
uniform float lock_px;
// 0: locks are not shown.
uniform float lock_strength;
#endif
#if SHADING == 3
// Width of lines of equal weight; 0: none.
uniform float line_px;
#elif SHADING == 7
uniform float limit;
#elif SHADING == 8
// How far from 1 a sum may be, and where its colour is the end's.
uniform vec2 sum_scale;
#endif
uniform float hatch_px;
#if SHADING != 6
uniform vec3 heat_stops[9];
#endif
uniform vec3 hatch_ground;
uniform vec3 hatch_stripe;
#if SHADING == 5
// The lower end, what is in order, the upper end.
uniform vec3 heat_range;
// From one line of equal value to the next; 0: none.
uniform float heat_step;
uniform float line_px;
#endif
#elif SHADING == 4
uniform vec3 fill;
#endif

in vec3 point_in_view;
in vec3 normal_in_view;
#if SHADING == 0
in vec2 texture_uv;
in vec4 surface_color;
#elif SHADING == 2
in float bend;
#elif HEAT
in float heat_value;
#endif
#if WEIGHTS
in vec4 tint_value;
#endif

out vec4 color;

// The lights stand still in the view, as in a photographer's studio: turning the model turns its form under them.
const vec3 KEY_DIRECTION = vec3(-0.600, 0.680, 0.421);
const vec3 KEY_COLOR = vec3(0.94, 0.90, 0.84);
const vec3 FILL_DIRECTION = vec3(0.883, 0.104, 0.457);
const vec3 FILL_COLOR = vec3(0.12, 0.145, 0.18);
const vec3 RIM_DIRECTION = vec3(0.362, 0.569, -0.738);
const vec3 RIM_COLOR = vec3(0.50, 0.53, 0.58);
const vec3 SKY_COLOR = vec3(0.19, 0.205, 0.23);
const vec3 GROUND_COLOR = vec3(0.050, 0.047, 0.045);

#if SHADING != 2
vec3 hemisphere(vec3 direction) {
    return mix(GROUND_COLOR, SKY_COLOR, 0.5 + 0.5 * dot(direction, up_in_view));
}

vec3 diffuse_light(vec3 n) {
    return hemisphere(n)
        + KEY_COLOR * max(dot(n, KEY_DIRECTION), 0.0)
        + FILL_COLOR * max(dot(n, FILL_DIRECTION), 0.0)
        + RIM_COLOR * max(dot(n, RIM_DIRECTION), 0.0);
}
#endif

#if SHADING <= 1
// GGX with Schlick's Fresnel and visibility terms; the light's colour is irradiance.
vec3 specular_light(vec3 n, vec3 v, vec3 l, vec3 light, vec3 f0, float rough) {
    float a = rough * rough;
    vec3 h = normalize(l + v);
    float nl = max(dot(n, l), 0.0);
    float nv = max(dot(n, v), 0.05);
    float nh = max(dot(n, h), 0.0);
    float d = nh * nh * (a * a - 1.0) + 1.0;
    float k = 0.5 * a;
    float visibility = 0.25 / ((nl * (1.0 - k) + k) * (nv * (1.0 - k) + k));
    float x = 1.0 - max(dot(h, v), 0.0);
    vec3 fresnel = f0 + (1.0 - f0) * (x * x * x * x * x);
    return light * fresnel * (a * a / (d * d) * visibility * nl / 3.14159265);
}
#endif

#if SHADING == 0
// What a mirror sees: a dark floor, a bright horizon, a ceiling with a soft box over the left shoulder and a strip of
// light at the right. Rough surfaces see it blurred.
vec3 surroundings(vec3 r, float rough) {
    float up = dot(r, up_in_view);
    float blur = 0.06 + 0.94 * rough;
    vec3 ceiling = mix(vec3(0.34, 0.35, 0.37), vec3(0.15, 0.16, 0.18), clamp(up, 0.0, 1.0));
    vec3 floor_color = mix(vec3(0.15, 0.145, 0.14), vec3(0.045, 0.043, 0.042), clamp(-up * 1.6, 0.0, 1.0));
    vec3 light = mix(floor_color, ceiling, smoothstep(-0.25 * blur, 0.25 * blur, up + 0.04));
    float box = smoothstep(0.88 - 0.75 * blur, 0.93 + 0.05 * blur, dot(r, vec3(-0.62, 0.62, 0.48)));
    float strip = smoothstep(0.62 - 0.5 * blur, 0.80, r.x) * smoothstep(0.95, 0.55, abs(r.y));
    return light + KEY_COLOR * (box * mix(1.5, 0.35, rough)) + FILL_COLOR * (strip * mix(2.4, 1.0, rough));
}

// How much of its surroundings a surface mirrors. Karis 2014, the mobile approximation of the split sum.
vec3 mirrored(vec3 f0, float rough, float nv) {
    vec4 r = rough * vec4(-1.0, -0.0275, -0.572, 0.022) + vec4(1.0, 0.0425, 1.04, -0.04);
    float a = min(r.x * r.x, exp2(-9.28 * nv)) * r.x + r.y;
    vec2 scale_bias = vec2(-1.04, 1.04) * a + r.zw;
    return f0 * scale_bias.x + scale_bias.y;
}
#endif

#if HEAT
#if SHADING != 6
vec3 heat_color(float t) {
    float x = clamp(t, 0.0, 1.0) * 8.0;
    int i = min(int(x), 7);
    return mix(heat_stops[i], heat_stops[i + 1], x - float(i));
}
#endif

// Diagonal stripes of the screen: "no weight here", or "never painted", can be taken neither for a colour of the ramp nor for a shadow, and
// reads without colour vision.
float stripes(float along) {
    float phase = fract(along / hatch_px);
    float edge = 1.5 / hatch_px;
    return smoothstep(0.5 - edge, 0.5, phase) * (1.0 - smoothstep(1.0 - edge, 1.0, phase));
}

vec3 hatch() {
    return mix(hatch_ground, hatch_stripe, stripes(gl_FragCoord.x + gl_FragCoord.y));
}
#endif

#if WEIGHTS
// What stands out from a colour and still has its hue.
vec3 apart(vec3 c) {
    return dot(c, vec3(0.299, 0.587, 0.114)) > 0.42 ? c * 0.42 : mix(c, vec3(1.0), 0.42);
}

// Whether there is nothing to show.
bool is_plain() {
#if SHADING == 3
    return abs(heat_value - plain) <= 0.0005;
#elif SHADING == 6
    return heat_value < 0.5;
#elif SHADING == 7
    return heat_value * 16.0 < 0.5;
#else
    return heat_value <= plain;
#endif
}

vec3 weight_color() {
    if (is_plain()) {
        return hatch();
    }
#if SHADING == 3
    vec3 shown = heat_color(heat_value);
    if (line_px > 0.0) {
        float level = heat_value * 10.0;
        float nearest = floor(level + 0.5);
        float slope = fwidth(level);
        float gap = abs(level - nearest) / max(slope, 1e-9);
        float line = 1.0 - smoothstep(line_px * 0.5, line_px * 0.5 + 0.9, gap);
        // On a plateau the whole surface would be a line.
        bool is_level = slope > 1e-4 && nearest > 0.0 && nearest < 10.0;
        shown = is_level ? mix(shown, apart(shown), 0.75 * line) : shown;
    }
    return shown;
#elif SHADING == 6
    return tint_value.rgb;
#elif SHADING == 7
    float count = floor(heat_value * 16.0 + 0.5);
    vec3 shown = heat_color((min(count, 8.0) - 1.0) / 7.0);
    return count > limit ? mix(shown, apart(shown), stripes(gl_FragCoord.x - gl_FragCoord.y)) : shown;
#else
    float off = heat_value * 2.0 - 1.0;
    if (abs(off) <= sum_scale.x) {
        return heat_color(0.5);
    }
    float part = 0.35 + 0.65 * min(abs(off) / sum_scale.y, 1.0);
    vec3 shown = heat_color(0.5 + 0.5 * part * sign(off));
    return mix(shown, shown * 0.6, stripes(gl_FragCoord.x - gl_FragCoord.y));
#endif
}

// Stripes as wide as the share of the weights that is locked.
vec3 with_locks(vec3 shown, bool is_plain) {
    float share = tint_value.a * lock_strength;
    if (share < 0.003) {
        return shown;
    }
    float phase = fract((gl_FragCoord.x - gl_FragCoord.y) / lock_px);
    float width = 0.1 + 0.36 * share;
    float edge = 1.2 / lock_px;
    float on = smoothstep(0.0, edge, phase) * (1.0 - smoothstep(width, width + edge, phase));
    // Over the hatch they cross its stripes: both stay readable where they are fainter.
    return mix(shown, apart(shown), is_plain ? 0.4 * on : on);
}
#endif

#if SHADING == 5
// Values beyond the range are hatched the other way, and lines of equal value drawn: what is seen is not colour alone.
vec3 metric_color() {
    if (heat_value > 1e20) {
        return hatch();
    }
    float from = heat_value - heat_range.y;
    bool diverging = heat_range.x < heat_range.y;
    float place = from < 0.0 ? from / max(heat_range.y - heat_range.x, 1e-12) : from / (heat_range.z - heat_range.y);
    vec3 shown = heat_color(diverging ? 0.5 + 0.5 * place : place);
    if (place > 1.0 || (diverging && place < -1.0)) {
        shown = mix(shown, shown * 0.35, stripes(gl_FragCoord.x - gl_FragCoord.y));
    } else if (heat_step > 0.0) {
        float level = from / heat_step;
        // Where nothing happens the value is 0 but for rounding: no line there.
        float nearest = floor(level + 0.5);
        float gap = abs(level - nearest) / max(fwidth(level), 1e-9);
        float line = 1.0 - smoothstep(line_px * 0.5, line_px * 0.5 + 0.9, gap);
        shown *= nearest == 0.0 ? 1.0 : 1.0 - 0.42 * line;
    }
    return shown;
}
#endif

#if SHADING == 2
// Grey clay between a soft box overhead, two faint strips at the sides and a strong rim; hollows dark and cool, ridges
// bright and warm. What faces the eye would be flat: its slopes are lit as if they were steeper.
vec3 form_light(vec3 n, vec3 v) {
    vec3 steep = normalize(vec3(n.xy * 1.5, n.z));
    float lit = smoothstep(-0.35, 1.0, dot(steep, vec3(-0.497, 0.704, 0.507)));
    vec3 light = mix(vec3(0.020, 0.023, 0.030), vec3(0.47, 0.452, 0.42), lit * sqrt(lit));
    light += vec3(0.030, 0.042, 0.062) * max(dot(steep, vec3(0.80, -0.46, 0.385)), 0.0);
    vec3 r = reflect(-v, n);
    float box = smoothstep(0.20, 0.48, r.y) * (1.0 - smoothstep(0.60, 0.86, r.y));
    float strips = smoothstep(0.46, 0.60, abs(r.x)) * (1.0 - smoothstep(0.66, 0.82, abs(r.x)));
    light += vec3(0.17, 0.17, 0.165) * box * (1.0 - 0.8 * r.x * r.x) + vec3(0.035, 0.040, 0.048) * strips;
    float grazing = 1.0 - max(dot(n, v), 0.0);
    light *= 1.0 - 0.45 * smoothstep(0.28, 0.62, grazing);
    float rim = smoothstep(0.60, 0.97, grazing);
    light += vec3(0.50, 0.55, 0.62) * rim * rim * (0.62 + 0.38 * n.y);
    float curved = bend * bump;
    curved = curved / (1.0 + abs(curved));
    float hollow = max(-curved - 0.01, 0.0);
    float ridge = max(curved - 0.38, 0.0);
    light *= mix(vec3(1.0), vec3(0.13, 0.17, 0.28), min(2.4 * hollow, 1.0));
    light += vec3(0.62, 0.55, 0.43) * ridge;
    return light;
}
#endif

void main() {
#if SHADING == 0
    vec4 texel = texture(base_color_map, texture_uv) * surface_color;
    float opacity = texel.a * alpha;
    if (opacity < alpha_cutoff) {
        discard;
    }
#endif
    vec3 v = orthographic > 0.5 ? vec3(0.0, 0.0, 1.0) : normalize(-point_in_view);
    // The flat normal of what is seen, towards the eye: also right for mirrored meshes, whose winding is reversed.
    vec3 flat_normal = cross(dFdx(point_in_view), dFdy(point_in_view));
    flat_normal *= dot(flat_normal, v) < 0.0 ? -1.0 : 1.0;
    float length_squared = dot(normal_in_view, normal_in_view);
    vec3 n = length_squared > 1e-12 ? normal_in_view * inversesqrt(length_squared) : v;
    float facing = 1.0;
    if (dot(n, flat_normal) < 0.0) {
        n = -n;
        facing = back_light;
    }
#if SHADING == 0 && DETAILED
    if (bumpy > 0.5) {
        // The texture's axes on the surface, from how it changes on the screen: follows any pose without tangents.
        vec3 across = dFdx(point_in_view);
        vec3 along = dFdy(point_in_view);
        vec2 uv_across = dFdx(texture_uv);
        vec2 uv_along = dFdy(texture_uv);
        vec3 along_in_surface = cross(along, n);
        vec3 across_in_surface = cross(n, across);
        vec3 t = along_in_surface * uv_across.x + across_in_surface * uv_along.x;
        vec3 b = along_in_surface * uv_across.y + across_in_surface * uv_along.y;
        float largest = max(dot(t, t), dot(b, b));
        if (largest > 0.0) {
            vec3 m = texture(normal_map, texture_uv).xyz * 2.0 - 1.0;
            // glTF's v grows downwards, its green upwards.
            m.xy *= vec2(normal_scale, -normal_scale);
            n = normalize((t * m.x + b * m.y) * inversesqrt(largest) + n * m.z);
        }
    }
#endif

#if SHADING == 2
    vec3 result = form_light(n, v);
#else
    vec3 light = diffuse_light(n);
#endif
#if WEIGHTS
    // Form without hue: the ramp's colours must stay readable in the shade.
    float form = 0.38 + 0.48 * dot(light, vec3(0.30, 0.59, 0.11));
    vec3 result = linear_from_srgb(with_locks(weight_color(), is_plain())) * form;
#elif SHADING == 5
    float form = 0.38 + 0.48 * dot(light, vec3(0.30, 0.59, 0.11));
    vec3 result = linear_from_srgb(metric_color()) * form;
#elif SHADING == 4
    vec3 result = fill * (0.45 + 0.9 * dot(light, vec3(0.30, 0.59, 0.11)));
#elif SHADING == 1
    const vec3 albedo = vec3(0.44, 0.427, 0.41);
    vec3 result = albedo * light
        + specular_light(n, v, KEY_DIRECTION, KEY_COLOR * 2.0, vec3(0.04), 0.5)
        + hemisphere(reflect(-v, n)) * 0.028;
#elif SHADING == 0
    vec3 albedo = base_color * texel.rgb;
    float metal = metallic;
    float rough = roughness;
    float reached = 1.0;
#if DETAILED
    vec4 maps = texture(metallic_roughness_map, texture_uv);
    metal *= maps.b;
    rough *= maps.g;
    reached = mix(1.0, texture(occlusion_map, texture_uv).r, occlusion_strength);
#endif
    rough = clamp(rough, 0.16, 1.0);
    float nv = clamp(dot(n, v), 0.0, 1.0);
    vec3 f0 = mix(vec3(0.04), albedo, metal);
    // What light from around reaches also dims the lamps a little: they are large.
    light *= mix(1.0, reached, 0.7);
    vec3 result = albedo * light * (1.0 - metal)
        + specular_light(n, v, KEY_DIRECTION, KEY_COLOR * 2.0, f0, rough)
        + specular_light(n, v, RIM_DIRECTION, RIM_COLOR * 2.0, f0, rough)
        + surroundings(reflect(-v, n), rough) * mirrored(f0, rough, nv) * (reached * mix(1.0, 1.7, metal));
#if DETAILED
    result = mix(result, albedo / 0.82, unlit);
    result += emissive * texture(emissive_map, texture_uv).rgb;
    facing = mix(facing, 1.0, unlit);
#endif
#endif
#if SHADING == 0
    // White skin under all lamps keeps its form.
    result *= 0.82;
#endif
    result *= facing;
    float grazing = 1.0 - max(dot(n, v), 0.0);
    result = mix(result, accent, highlight * (0.06 + 0.75 * grazing * grazing * grazing));
#if SHADING == 0
    color = vec4(srgb_from_linear(soft_clip(result)), mix(1.0, opacity, blended));
#else
    color = vec4(srgb_from_linear(soft_clip(result)), 1.0);
#endif
}
