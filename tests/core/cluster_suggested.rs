//! Characters with clusters on 5 % and 10 % of their vertices, as *Suggest* puts them: against the full deformer stack, played
//! and exported.

use crate::bake::{corrected, with_stack};
use crate::clustered::shape_of;
use crate::export_models::{open, reopen};
use crate::shared::shared_dir;
use glam::Vec3;
use sinew::bake::BakeOptions;
use sinew::cluster::ClusterSurface;
use sinew::deform::DeformStack;
use sinew::document::{ClipId, ClustersEdit, Document, Edit, InstanceId, MeshId};
use sinew::skeleton::Moment;
use sinew::suggest::{ClusterGoal, SuggestedClusters, Training, suggest_clusters};
use sinew::task::Task;
use std::sync::Arc;

/// A character of one mesh, with the clusters of each share of its vertices.
struct Character {
    document: Document,
    mesh: MeshId,
    instance: InstanceId,
    n_vertices: usize,
    training: Training,
}

impl Character {
    fn load(test: &str, file: &str) -> Option<Self> {
        let document = open(&shared_dir(test)?.join("models").join(file));
        let drawn = document.instances().iter().find(|(_, i)| i.skin.is_some());
        let (&instance, drawn) = drawn.expect("a skinned mesh");
        let mesh = drawn.mesh;
        Some(Self {
            mesh,
            instance,
            n_vertices: ClusterSurface::new(&document.meshes()[&mesh].geometry).n_vertices(),
            training: Training::new(&document),
            document,
        })
    }

    /// As many clusters as a share allows, whatever error they leave.
    fn suggested(&self, share: f64) -> (SuggestedClusters, Document) {
        let goal = ClusterGoal { error: 1e-5, share };
        let found = suggest_clusters(
            &self.document,
            self.mesh,
            goal,
            &self.training,
            &Task::new(),
        );
        let found = found.expect("a skin");
        let mut document = self.document.clone();
        let edit = ClustersEdit::new(&document, self.mesh, Arc::new(found.map.clone()));
        document.apply(&mut Edit::Clusters(edit)).unwrap();
        (found, document)
    }

    fn shape(&self, document: &Document, clip: ClipId, secs: f64) -> Vec<Vec3> {
        let pose = document.pose_of_clip(&document.clips()[&clip], secs);
        shape_of(document, self.instance, &pose, Moment::of(clip, secs))
    }

    /// The largest and the root mean square distance of two documents at even moments of clips, in percent of the diagonal.
    fn apart(&self, a: &Document, b: &Document, clips: &[ClipId]) -> [f64; 2] {
        let (mut largest, mut sum, mut n) = (0f64, 0.0, 0usize);
        for &clip in clips {
            let item = &self.document.clips()[&clip];
            let (start, end) = (f64::from(item.start_secs()), f64::from(item.end_secs()));
            for k in 0..4 {
                let secs = start + (end - start) * (f64::from(k) + 0.3) / 4.0;
                let (a, b) = (self.shape(a, clip, secs), self.shape(b, clip, secs));
                assert_eq!(a.len(), b.len());
                for (a, b) in a.iter().zip(&b) {
                    let apart = f64::from(a.distance(*b)) / self.training.diagonal;
                    assert!(apart.is_finite());
                    largest = largest.max(apart);
                    sum += apart * apart;
                    n += 1;
                }
            }
        }
        [100.0 * largest, 100.0 * (sum / n as f64).sqrt()]
    }
}

/// The largest errors and their root mean squares in the training poses, percent of the diagonal: `sinew clusters F --suggest
/// 0.001% --at-most P`. The Fox has 290 vertices: 5 % are 14 clusters for a body with four legs and a tail.
#[test]
fn a_twentieth_and_a_tenth_of_the_vertices_play_like_the_full_stack() {
    let expected = [
        ("fox/fox.glb", 0.05, 14, [16.60, 2.449]),
        ("fox/fox.glb", 0.10, 29, [8.06, 1.162]),
        ("mannequiny/mannequiny.glb", 0.05, 356, [1.343, 0.047]),
        ("mannequiny/mannequiny.glb", 0.10, 713, [0.355, 0.019]),
    ];
    for (file, share, n_clusters, printed) in expected {
        let Some(character) = Character::load("suggested clusters", file) else {
            return;
        };
        let (found, document) = character.suggested(share);
        let last = found.rounds.last().unwrap();
        let own = [100.0 * last.max, 100.0 * last.rms];
        let clips: Vec<ClipId> = document.clips().keys().copied().take(4).collect();
        let played = character.apart(&document, &character.document, &clips);
        println!(
            "{file}, {share}: {} clusters, {own:.3?} %, at other moments {played:.3?} %",
            last.n_clusters
        );
        // As many as the share allows; both sides of a seam count as one.
        assert_eq!(
            last.n_clusters, n_clusters,
            "of {} vertices",
            character.n_vertices
        );
        let share_of = last.n_clusters as f64 / character.n_vertices as f64;
        assert!((share_of - share).abs() < 0.005, "{share_of}");
        for (own, printed) in own.into_iter().zip(printed) {
            assert!((own / printed - 1.0).abs() < 0.05, "{own} for {printed}");
        }
        // Moments that are not trained.
        let [largest, rms] = played;
        assert!(largest < 1.3 * printed[0], "{largest} for {printed:?}");
        assert!(rms < 1.5 * printed[1], "{rms} for {printed:?}");
    }
}

/// The clip of an exported file, under plain linear blending with its helper joints and morph targets, is what the clusters show.
#[test]
fn an_export_of_suggested_clusters_plays_them() {
    let Some(character) = Character::load("suggested clusters", "fox/fox.glb") else {
        return;
    };
    let (_, document) = character.suggested(0.1);
    let clip = *document.clips().keys().next_back().expect("a clip");
    let options = BakeOptions {
        clips: vec![clip],
        ..BakeOptions::default()
    };
    let (exported, report) = corrected(&document, options);
    println!("{}", report.summary());
    assert!(report.met && report.before_max_percent > 1.0, "{report:?}");
    let read = with_stack(reopen(&exported), &DeformStack::lbs());
    let [largest, rms] = character.apart(&read, &document, &[clip]);
    println!("played: {largest:.4} %, {rms:.4} %");
    assert!(largest <= 0.1 && rms <= 0.05, "{largest} {rms}");
}
