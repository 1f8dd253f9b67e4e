// SHADING is defined by `programs.rs`: 0 textured, 1 clay, 2 weights, 3 dim fill behind a wire. A program of its own
// for each keeps software rendering fast, which computes both sides of every branch.
uniform float back_light;
uniform float orthographic;
uniform float highlight;
uniform vec3 accent;
uniform vec3 up_in_view;
#if SHADING == 0
uniform vec3 base_color;
uniform float metallic;
uniform float roughness;
uniform float alpha;
uniform float alpha_cutoff;
uniform sampler2D base_color_map;
#elif SHADING == 2
uniform float hatch_px;
uniform vec3 heat_stops[9];
#endif

in vec3 point_in_view;
in vec3 normal_in_view;
#if SHADING == 0
in vec2 texture_uv;
#elif SHADING == 2
in float heat_value;
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

vec3 hemisphere(vec3 direction) {
    return mix(GROUND_COLOR, SKY_COLOR, 0.5 + 0.5 * dot(direction, up_in_view));
}

vec3 diffuse_light(vec3 n) {
    return hemisphere(n)
        + KEY_COLOR * max(dot(n, KEY_DIRECTION), 0.0)
        + FILL_COLOR * max(dot(n, FILL_DIRECTION), 0.0)
        + RIM_COLOR * max(dot(n, RIM_DIRECTION), 0.0);
}

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

#if SHADING == 2
vec3 heat_color(float t) {
    float x = clamp(t, 0.0, 1.0) * 8.0;
    int i = min(int(x), 7);
    return mix(heat_stops[i], heat_stops[i + 1], x - float(i));
}

// Grey with diagonal stripes of the screen: "no weight here" can be taken neither for a colour of the ramp nor for
// a shadow, and reads without colour vision.
vec3 hatch() {
    float phase = fract((gl_FragCoord.x + gl_FragCoord.y) / hatch_px);
    float edge = 1.5 / hatch_px;
    float stripe = smoothstep(0.5 - edge, 0.5, phase) * (1.0 - smoothstep(1.0 - edge, 1.0, phase));
    return mix(vec3(0.46, 0.47, 0.48), vec3(0.36, 0.37, 0.38), stripe);
}
#endif

void main() {
#if SHADING == 0
    vec4 texel = texture(base_color_map, texture_uv);
    if (texel.a * alpha < alpha_cutoff) {
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

    vec3 light = diffuse_light(n);
#if SHADING == 2
    // Form without hue: the ramp's colours must stay readable in the shade.
    float form = 0.38 + 0.48 * dot(light, vec3(0.30, 0.59, 0.11));
    vec3 result = linear_from_srgb(heat_value > 0.0005 ? heat_color(heat_value) : hatch()) * form;
#elif SHADING == 3
    vec3 result = vec3(0.055, 0.058, 0.063) * (0.45 + 0.9 * dot(light, vec3(0.30, 0.59, 0.11)));
#else
#if SHADING == 0
    vec3 albedo = base_color * texel.rgb;
    float metal = metallic;
    float rough = clamp(roughness, 0.18, 1.0);
#else
    const vec3 albedo = vec3(0.44, 0.427, 0.41);
    const float metal = 0.0;
    const float rough = 0.5;
#endif
    vec3 f0 = mix(vec3(0.04), albedo, metal);
    // Without surroundings to mirror, a metal keeps a share of diffuse light and mirrors the hemisphere.
    vec3 result = albedo * light * (1.0 - 0.65 * metal)
        + specular_light(n, v, KEY_DIRECTION, KEY_COLOR * 2.0, f0, rough)
        + hemisphere(reflect(-v, n)) * f0 * (1.0 - 0.6 * rough);
#endif
    result *= facing;
    float grazing = 1.0 - max(dot(n, v), 0.0);
    result = mix(result, accent, highlight * (0.06 + 0.75 * grazing * grazing * grazing));
    color = vec4(srgb_from_linear(soft_clip(result)), 1.0);
}
