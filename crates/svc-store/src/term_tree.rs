//! The tree of terms of a taxonomy.

use std::collections::{HashMap, HashSet};

use sea_query::{Expr, ExprTrait as _, Query};
use svc_db::{Db, Result};
use svc_model::TermId;

/// Terms of a taxonomy that have no posts but have descendants with posts, in ascending order of id. Runs one query.
pub fn empty_with_nonempty_descendants(db: &mut Db, taxonomy: &str) -> Result<Vec<TermId>> {
    let mut s = Query::select();
    s.columns(["term_id", "parent", "count"]).from(db.table("term_taxonomy"));
    s.and_where(Expr::col("taxonomy").eq(taxonomy)).order_by("term_id", sea_query::Order::Asc);
    let rows = db.all(&s, |row| Ok((TermId(row.int(0)?), TermId(row.int(1)?), row.int(2)?)))?;
    Ok(empty_above(&rows))
}

/// The same for rows of term, parent and post count. Every term is visited once, including cycles.
fn empty_above(rows: &[(TermId, TermId, i64)]) -> Vec<TermId> {
    let parents: HashMap<TermId, TermId> = rows.iter().map(|(id, parent, _)| (*id, *parent)).collect();
    let mut above: HashSet<TermId> = HashSet::new();
    for (_, parent, _) in rows.iter().filter(|(_, _, count)| *count > 0) {
        let mut next = Some(*parent);
        while let Some(id) = next.filter(|id| !id.is_none() && above.insert(*id)) {
            next = parents.get(&id).copied();
        }
    }
    rows.iter().filter(|(id, _, count)| *count <= 0 && above.contains(id)).map(|(id, ..)| *id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn finds_empty_terms_above_posts() {
        /// Id, parent, posts.
        type Term = (i64, i64, i64);
        // Terms, expected result.
        let rows: [(&[Term], &[i64]); 5] = [
            (&[], &[]),
            (&[(1, 0, 0), (2, 1, 0)], &[]),
            (&[(1, 0, 0), (2, 1, 0), (3, 2, 4)], &[1, 2]),
            (&[(1, 0, 3), (2, 1, 0), (3, 2, 4), (4, 1, 0)], &[2]),
            // A cycle, and a missing parent.
            (&[(1, 2, 0), (2, 1, 0), (3, 2, 1), (4, 9, 1)], &[1, 2]),
        ];
        for (rows, expected) in rows {
            let rows: Vec<_> = rows.iter().map(|(id, parent, n)| (TermId(*id), TermId(*parent), *n)).collect();
            assert_eq!(empty_above(&rows).iter().map(|id| id.0).collect::<Vec<_>>(), expected, "{rows:?}");
        }
    }

    #[test]
    fn reads_a_taxonomy_in_one_query() {
        let (store, _folder) = fixture::store();
        // 8 is empty and has no children; 7 has posts and is moved below it.
        let empty_terms = || store.read_blocking(|db| empty_with_nonempty_descendants(db, "category")).unwrap();
        assert_eq!(empty_terms(), []);
        store
            .write_blocking(|tx| {
                let mut asia = crate::terms::get(tx, TermId(7), Some("category"))?.unwrap();
                asia.parent = TermId(8);
                crate::terms::update(tx, &asia)
            })
            .unwrap();
        assert_eq!(empty_terms(), [TermId(8)]);
    }
}
