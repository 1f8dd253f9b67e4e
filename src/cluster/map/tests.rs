use super::*;
use crate::skeleton::ClipId;

fn map() -> ClusterMap {
    let groups = ["Skin", "Biceps"].into_iter().enumerate();
    let groups = groups.map(|(i, name)| Arc::new(ClusterGroup::new(name, i)));
    let points = vec![(9, 0), (2, 1), (4, 0)];
    ClusterMap::new(groups.collect(), points, PatchSettings::default()).unwrap()
}

#[test]
fn points_ascend_and_move_between_groups() {
    let map = map();
    assert_eq!(map.clusters(), [(2, 1), (4, 0), (9, 0)]);
    assert_eq!((map.group_of(4), map.group_of(5)), (Some(0), None));
    assert_eq!((map.counts(), map.last_point()), (vec![2, 1], Some(9)));
    let other = map.with_points(&[9, 5, 9], Some(1));
    assert_eq!(other.clusters(), [(2, 1), (4, 0), (5, 1), (9, 1)]);
    assert!(!other.marks_same(&map));
    let regrouped = map.with_points(&[9], Some(1));
    assert!(regrouped.marks_same(&map) && regrouped != map);
    assert_eq!(map.with_points(&[4, 77], None).clusters(), [(2, 1), (9, 0)]);
    assert_eq!(map.with_points(&[4], Some(7)), map);
    assert_eq!(map.without_group(0).clusters(), [(2, 0)]);
    assert_eq!(map.without_group(2), map);
}

#[test]
fn what_is_added_by_hand_leaves_with_its_points() {
    let map = map();
    let offsets = vec![(4, glam::Vec3::X), (9, glam::Vec3::Y)];
    let mut group = ClusterGroup::clone(&map.groups()[0]);
    group.hand = ControlMotion::default().with_still(offsets).unwrap();
    let map = map.with_group(Some(0), group).unwrap();
    let same = map.with_points(&[4, 5], Some(0));
    assert!(Arc::ptr_eq(&same.groups()[0], &map.groups()[0]));
    for other in [None, Some(1)] {
        let fewer = map.with_points(&[4], other);
        let back = fewer.with_points(&[4], Some(0));
        assert_eq!(back.groups()[0].hand.still()[..], [(9, glam::Vec3::Y)]);
    }
    let own = size_of::<ClusterMap>() + size_of::<ClusterGroup>();
    let known = map.groups()[0]
        .hand
        .with_key(ClipId(0), 1.0, Vec::new())
        .unwrap();
    let mut group = ClusterGroup::clone(&map.groups()[0]);
    group.hand = known;
    let keyed = map.with_group(Some(0), group).unwrap();
    let bytes = keyed.bytes_beside(&map);
    assert!(bytes < own + 100, "{bytes} {own}");
}

#[test]
fn what_is_added_by_hand_goes_along_to_a_group_that_is_moved_by_hand() {
    let map = map();
    let (clip, x, y) = (ClipId(0), glam::Vec3::X, glam::Vec3::Y);
    let by_hand = |at: u16, hand: ControlMotion, map: &ClusterMap| {
        let group = ClusterGroup {
            base: Base::Hand,
            hand,
            ..ClusterGroup::clone(&map.groups()[usize::from(at)])
        };
        map.with_group(Some(at), group).unwrap()
    };
    let motion = ControlMotion::new(vec![(4, x)], [(clip, vec![(1.0, vec![(4, y), (9, x)])])]);
    let keyed = by_hand(0, motion.unwrap(), &map);
    assert_eq!(keyed.lost_by_hand(&[4, 2, 9], Some(1)), [4, 9]);
    assert_eq!(keyed.lost_by_hand(&[4], None), [4]);
    let motion = ControlMotion::new(vec![(2, y)], [(clip, vec![(3.0, vec![(2, x)])])]);
    let both = by_hand(1, motion.unwrap(), &keyed);
    assert_eq!(both.lost_by_hand(&[4, 2], Some(1)), [0u32; 0]);
    let moved = both.with_points(&[4], Some(1));
    let [left, right] = [0, 1].map(|g| moved.groups()[g].hand.clone());
    assert_eq!(left.still().len(), 0);
    assert_eq!(left.keys(clip)[0].offsets[..], [(9, x)]);
    assert_eq!(right.still()[..], [(2, y), (4, x)]);
    let keys: Vec<_> = right
        .keys(clip)
        .iter()
        .map(|k| (k.secs, k.offsets.to_vec()))
        .collect();
    let both = vec![(2, x), (4, y)];
    assert_eq!(keys, [(1.0, both.clone()), (3.0, both)]);
}

#[test]
fn a_map_that_contradicts_itself_is_refused() {
    let map = map();
    let same = map.with_group(None, ClusterGroup::new("Skin", 2));
    assert_eq!(same, Err(MapError::SameName("Skin".into())));
    assert!(
        map.with_group(Some(0), ClusterGroup::new("Skin", 2))
            .is_ok()
    );
    let of = |points| ClusterMap::new(map.groups().to_vec(), points, *map.settings());
    assert_eq!(of(vec![(3, 0), (3, 1)]), Err(MapError::TwoGroups(3)));
    let why = MapError::TwoGroups(3);
    assert_eq!(why.point(), Some(3));
    assert_eq!(
        why.naming("vertex 8 of primitive 1"),
        "vertex 8 of primitive 1 is in two groups of clusters"
    );
    assert_eq!(of(vec![(3, 0), (3, 0)]).unwrap().n_clusters(), 1);
    assert!(matches!(of(vec![(3, 2)]), Err(MapError::NoGroup { .. })));
    let tension = |tension| PatchSettings {
        tension,
        ..PatchSettings::default()
    };
    assert!(map.with_settings(tension(f64::NAN)).is_err());
    assert_eq!(
        map.with_settings(tension(0.5)).unwrap().settings().tension,
        0.5
    );
}
