#!/usr/bin/env python3
"""Sinew's kernels beside those of other software, on one generated mesh, in turns.

    cargo build --release --no-default-features
    python3 tests/bench/peers.py target/release/sinew [--points 100000] [--rounds 5] [--threads 1] [--json]

The mesh is the tube of `sinew bench`: 60 joints one metre apart, 4 influences a point, every joint turned by 0.05
about z and 0.02 about x. Each round runs `sinew bench` and then every peer a few times; of a round its median counts,
and of all rounds again the median. So a busy neighbour slows all alike; only ratios of one run mean something.

Peers, each in a process of its own that is kept for all rounds and on as many cores as `--threads` says:

- OpenUSD (PyPI `usd-core`): UsdSkel.SkinPoints and SkinNormals on the CPU, classicLinear and dualQuaternion;
- Blender (PyPI `bpy`): the armature modifier without and with "preserve volume", positions only, with all that a
  changed pose costs there (dependency graph included, as nothing less can be called);
- three.js (npm `three`): SkinnedMesh.applyBoneTransform for every vertex, positions only, one thread.

They are installed into a folder of their own ($SINEW_PEERS, else sinew-peers in the user's cache folder) at the first
run. What cannot be installed or fails is said and left out. Needs Python 3.11 (what `bpy` is built for) and, for
three.js, node and npm.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import venv

N_JOINTS = 60
N_SIDES = 64
INFLUENCES = 4
# Repetitions of a peer in one round.
REPETITIONS = 3

# What the goals compare: ours, theirs, the least ratio wished for.
GOALS = [
    ("dqs", "openusd dqs", 25.0),
    ("dqs", "blender preserve volume, positions", 20.0),
]
# What else is put side by side.
PAIRS = [
    ("lbs", "openusd lbs"),
    ("dqs positions", "openusd dqs, positions"),
    ("lbs positions", "openusd lbs, positions"),
    ("dqs positions", "blender preserve volume, positions"),
    ("lbs positions", "blender linear, positions"),
    ("lbs positions", "three.js, positions"),
    ("default", "openusd dqs"),
]

# Both Python peers begin with this: the tube as arrays, and a loop that answers each line with a list of figures.
TUBE = """
import json, math, statistics, sys, time
import numpy as np
n, n_joints, n_sides, k = (int(a) for a in sys.argv[1:5])
p = np.arange(n)
n_rings = -(-n // n_sides)
x = ((p // n_sides) / n_rings * (n_joints - 1)).astype(np.float32)
angle = (p % n_sides) / n_sides * 2 * np.pi
normals = np.stack([0 * x, np.cos(angle), np.sin(angle)], 1).astype(np.float32)
positions = normals + np.stack([x, 0 * x, 0 * x], 1)
first = np.clip(np.floor(x - 0.5 * k + 1), 0, n_joints - k).astype(np.int32)
joints = (first[:, None] + np.arange(k)).astype(np.int32)
bell = np.exp(-((x[:, None] - joints) ** 2))
weights = (bell / bell.sum(1, keepdims=True)).astype(np.float32)

def serve(rows, repetitions):
    print(json.dumps({name: 0 for name in rows}), flush=True)
    for _ in sys.stdin:
        out = {}
        for name, run in rows.items():
            out[name] = statistics.median(run() for _ in range(repetitions)) / n * 1e9
        print(json.dumps(out), flush=True)
"""

OPENUSD = TUBE + """
from pxr import Gf, UsdSkel, Vt
indices = Vt.IntArray.FromNumpy(joints.reshape(-1))
values = Vt.FloatArray.FromNumpy(weights.reshape(-1))
turn = Gf.Rotation(Gf.Vec3d(1, 0, 0), math.degrees(0.02)) * Gf.Rotation(Gf.Vec3d(0, 0, 1), math.degrees(0.05))
world, matrices = Gf.Matrix4d(1), []
for j in range(n_joints):
    world = Gf.Matrix4d(turn, Gf.Vec3d(min(j, 1), 0, 0)) * world
    matrices.append(Gf.Matrix4d().SetTranslate(Gf.Vec3d(-j, 0, 0)) * world)
linear = Vt.Matrix3dArray([m.ExtractRotationMatrix() for m in matrices])
matrices = Vt.Matrix4dArray(matrices)
one4, one3 = Gf.Matrix4d(1), Gf.Matrix3d(1)

def points(method):
    out = Vt.Vec3fArray.FromNumpy(positions)
    start = time.perf_counter()
    if not UsdSkel.SkinPoints(method, one4, matrices, indices, values, k, out):
        raise RuntimeError("UsdSkel.SkinPoints refused the mesh")
    return time.perf_counter() - start

def both(method):
    out = Vt.Vec3fArray.FromNumpy(normals)
    start = time.perf_counter()
    if not UsdSkel.SkinNormals(method, one3, linear, indices, values, k, out):
        raise RuntimeError("UsdSkel.SkinNormals refused the mesh")
    return time.perf_counter() - start + points(method)

lbs, dqs = UsdSkel.Tokens.classicLinear, UsdSkel.Tokens.dualQuaternion
serve({
    "openusd lbs": lambda: both(lbs),
    "openusd lbs, positions": lambda: points(lbs),
    "openusd dqs": lambda: both(dqs),
    "openusd dqs, positions": lambda: points(dqs),
}, int(sys.argv[5]))
"""

BLENDER = TUBE + """
import os
# Blender tells of its doings on stdout, which is spoken for.
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
sys.stdout = answers
import bpy
bpy.ops.wm.read_factory_settings(use_empty=True)
rings = n // n_sides
mesh = bpy.data.meshes.new("tube")
around = np.arange(n_sides)
a = (np.arange(rings - 1)[:, None] * n_sides + around).reshape(-1)
b = (np.arange(rings - 1)[:, None] * n_sides + (around + 1) % n_sides).reshape(-1)
quads = np.stack([a, b, b + n_sides, a + n_sides], 1).astype(np.int32)
mesh.vertices.add(n)
mesh.vertices.foreach_set("co", positions.reshape(-1))
mesh.loops.add(quads.size)
mesh.loops.foreach_set("vertex_index", quads.reshape(-1))
mesh.polygons.add(len(quads))
mesh.polygons.foreach_set("loop_start", (np.arange(len(quads)) * 4).astype(np.int32))
mesh.update(calc_edges=True)
tube = bpy.data.objects.new("tube", mesh)
bpy.context.collection.objects.link(tube)
armature = bpy.data.armatures.new("rig")
rig = bpy.data.objects.new("rig", armature)
bpy.context.collection.objects.link(rig)
bpy.context.view_layer.objects.active = rig
bpy.ops.object.mode_set(mode="EDIT")
above = None
for j in range(n_joints):
    bone = armature.edit_bones.new(f"b{j}")
    bone.head, bone.tail, bone.parent = (j, 0, 0), (j + 1, 0, 0), above
    above = bone
bpy.ops.object.mode_set(mode="OBJECT")
groups = [tube.vertex_groups.new(name=f"b{j}") for j in range(n_joints)]
# A ring of points has one row of weights.
for start in range(0, n, n_sides):
    ring = list(range(start, min(start + n_sides, n)))
    for c in range(k):
        groups[int(joints[start, c])].add(ring, float(weights[start, c]), "REPLACE")
modifier = tube.modifiers.new("armature", "ARMATURE")
modifier.object = rig
for bone in rig.pose.bones:
    bone.rotation_mode = "XYZ"
turns = 0

def deform(preserve):
    global turns
    turns += 1
    if modifier.use_deform_preserve_volume != preserve:
        modifier.use_deform_preserve_volume = preserve
        bpy.context.view_layer.update()
    for bone in rig.pose.bones:
        # A bone's own y lies along it, its z stands upright.
        bone.rotation_euler = (1e-4 * (turns % 7), 0.02, 0.05)
    start = time.perf_counter()
    bpy.context.view_layer.update()
    tube.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return time.perf_counter() - start

serve({
    "blender linear, positions": lambda: deform(False),
    "blender preserve volume, positions": lambda: deform(True),
}, int(sys.argv[5]))
"""

THREE = """
import * as THREE from 'three';
import readline from 'node:readline';
const [n, nJoints, nSides, k, repetitions] = process.argv.slice(2).map(Number);
const nRings = Math.ceil(n / nSides);
const position = new Float32Array(3 * n), index = new Uint16Array(4 * n), weight = new Float32Array(4 * n);
for (let p = 0; p < n; p++) {
  const x = Math.floor(p / nSides) / nRings * (nJoints - 1), angle = (p % nSides) / nSides * 2 * Math.PI;
  position.set([x, Math.cos(angle), Math.sin(angle)], 3 * p);
  const first = Math.min(Math.max(Math.floor(x - 0.5 * k + 1), 0), nJoints - k);
  const bell = [...Array(k).keys()].map(c => Math.exp(-((x - first - c) ** 2)));
  const sum = bell.reduce((a, b) => a + b);
  for (let c = 0; c < k; c++) { index[4 * p + c] = first + c; weight[4 * p + c] = bell[c] / sum; }
}
const geometry = new THREE.BufferGeometry();
geometry.setAttribute('position', new THREE.BufferAttribute(position, 3));
geometry.setAttribute('skinIndex', new THREE.Uint16BufferAttribute(index, 4));
geometry.setAttribute('skinWeight', new THREE.BufferAttribute(weight, 4));
const bones = [];
for (let j = 0; j < nJoints; j++) {
  const bone = new THREE.Bone();
  bone.position.x = Math.min(j, 1);
  if (j > 0) bones[j - 1].add(bone);
  bones.push(bone);
}
const mesh = new THREE.SkinnedMesh(geometry);
mesh.add(bones[0]);
mesh.updateMatrixWorld(true);
mesh.bind(new THREE.Skeleton(bones));
for (const bone of bones) bone.rotation.set(0.02, 0, 0.05);
mesh.updateMatrixWorld(true);
const v = new THREE.Vector3(), out = new Float32Array(3 * n);
const run = () => {
  const start = process.hrtime.bigint();
  for (let p = 0; p < n; p++) {
    v.fromBufferAttribute(geometry.attributes.position, p);
    mesh.applyBoneTransform(p, v);
    out[3 * p] = v.x; out[3 * p + 1] = v.y; out[3 * p + 2] = v.z;
  }
  return Number(process.hrtime.bigint() - start) / n;
};
const name = 'three.js, positions';
console.log(JSON.stringify({ [name]: 0 }));
for await (const _ of readline.createInterface({ input: process.stdin })) {
  const times = [...Array(repetitions).keys()].map(run).sort((a, b) => a - b);
  console.log(JSON.stringify({ [name]: times[repetitions >> 1] }));
}
"""


def say(text):
    print(text, file=sys.stderr, flush=True)


def install_python(folder, package):
    """The Python of a virtual environment that has `package` and numpy."""
    place = folder / package
    python = place / "bin" / "python"
    if not (place / "ready").exists():
        say(f"installing {package} into {place}")
        shutil.rmtree(place, ignore_errors=True)
        venv.create(place, with_pip=True)
        command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*command, package, "numpy"], check=True, stdout=sys.stderr)
        (place / "ready").touch()
    return python


def install_node(folder):
    """A folder in which node finds three."""
    place = folder / "three"
    if not (place / "ready").exists():
        say(f"installing three into {place}")
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        (place / "package.json").write_text('{"private": true, "type": "module"}')
        subprocess.run(["npm", "install", "--silent", "three"], cwd=place, check=True, stdout=sys.stderr)
        (place / "ready").touch()
    return place


class Peer:
    """A process that answers each line with its figures."""

    def __init__(self, name, command, cwd, cores):
        environment = dict(os.environ, PXR_WORK_THREAD_LIMIT=str(len(cores)))
        self.name = name
        self.process = subprocess.Popen(
            command,
            cwd=cwd,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: os.sched_setaffinity(0, cores),
        )
        self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} ended with status {self.process.wait()}")
        return json.loads(line)

    def run(self):
        self.process.stdin.write("run\n")
        self.process.stdin.flush()
        return self.answer()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def start_peers(folder, points, cores):
    """The peers that could be installed and started."""
    figures = [str(v) for v in (points, N_JOINTS, N_SIDES, INFLUENCES, REPETITIONS)]

    def python_peer(package, script):
        return [install_python(folder, package), "-c", script, *figures], folder

    def node_peer():
        place = install_node(folder)
        (place / "peer.js").write_text(THREE)
        return ["node", "peer.js", *figures], place

    peers = []
    for name, prepare in [
        ("OpenUSD", lambda: python_peer("usd-core", OPENUSD)),
        ("Blender", lambda: python_peer("bpy", BLENDER)),
        ("three.js", node_peer),
    ]:
        try:
            peers.append(Peer(name, *prepare(), cores))
        except (OSError, subprocess.CalledProcessError, RuntimeError) as error:
            say(f"{name} is left out: {error}")
    return peers


def sinew(binary, points, cores):
    """One run of `sinew bench` on the cores: name -> ns a point."""
    run = subprocess.run(
        [binary, "bench", "--points", str(points), "--json"],
        check=True,
        stdout=subprocess.PIPE,
        preexec_fn=lambda: os.sched_setaffinity(0, cores),
    )
    rows = json.loads(run.stdout)
    return {row["name"]: row["ns_per_point"] for row in rows if row["threads"] == len(cores)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sinew", type=pathlib.Path, help="the binary, built with --release")
    parser.add_argument("--points", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    folder = pathlib.Path(os.environ.get("SINEW_PEERS") or cache / "sinew-peers").absolute()
    folder.mkdir(parents=True, exist_ok=True)
    cores = set(sorted(os.sched_getaffinity(0))[: options.threads])
    binary = options.sinew.absolute()

    peers = start_peers(folder, options.points, cores)
    samples = {}
    for number in range(options.rounds):
        say(f"round {number + 1} of {options.rounds}")
        figures = {"sinew " + name: ns for name, ns in sinew(binary, options.points, cores).items()}
        for peer in list(peers):
            try:
                figures.update(peer.run())
            except (OSError, RuntimeError) as error:
                say(f"{peer.name} is left out from here: {error}")
                peers.remove(peer)
        for name, ns in figures.items():
            samples.setdefault(name, []).append(ns)
    for peer in peers:
        peer.close()
    medians = {name: statistics.median(ns) for name, ns in samples.items()}

    wished = {(ours, theirs): ratio for ours, theirs, ratio in GOALS}
    ratios = []
    for ours, theirs in [*wished, *PAIRS]:
        if "sinew " + ours in medians and theirs in medians:
            ratio = medians[theirs] / medians["sinew " + ours]
            ratios.append({"ours": ours, "theirs": theirs, "ratio": ratio, "goal": wished.get((ours, theirs))})
    if options.json:
        report = {"points": options.points, "threads": len(cores), "ns_per_point": medians, "ratios": ratios}
        json.dump(report, sys.stdout, indent=2)
        print()
        return
    print(f"{options.points} points, {len(cores)} thread(s), ns a point; positions and normals unless it says so")
    for name, ns in medians.items():
        print(f"  {name:<48} {ns:>10.2f}")
    print("how many times as fast as its peer Sinew is")
    for row in ratios:
        goal = f"   goal {row['goal']:.0f}" if row["goal"] else ""
        print(f"  {row['ours']:<16} {row['theirs']:<38} {row['ratio']:>7.1f}{goal}")


if __name__ == "__main__":
    main()
