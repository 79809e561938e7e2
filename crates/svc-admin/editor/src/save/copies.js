// Copies of unsaved texts in the browser's storage, which is written at once and survives a crash.
//
// Each view of the page has a copy of its own, so that two tabs never overwrite each other's.

const PREFIX = "editor-copy:";

/**
 * @typedef {object} Copy
 * @property {string} id
 * @property {number} time milliseconds since 1970
 * @property {string} etag version of the post that it is based on
 * @property {[string, string][]} fields
 */

export class Copies {
  /**
   * @param {Storage | null} storage null if the browser has none
   * @param {string} key of the post
   * @param {string} view random name of this view of the page
   * @param {() => number} now
   */
  constructor(storage, key, view, now) {
    Object.assign(this, { storage, key, view, now });
  }

  get id() {
    return `${PREFIX}${this.key}:${this.view}`;
  }

  /** Stores this view's text. Returns false if the browser cannot. */
  write(fields, etag) {
    try {
      this.storage.setItem(this.id, JSON.stringify({ time: this.now(), etag, fields }));
      return true;
    } catch {
      return false;
    }
  }

  /** Removes this view's copy. */
  remove() {
    this.discard(this.id);
  }

  discard(id) {
    try {
      this.storage.removeItem(id);
    } catch {
      // There is nothing to remove.
    }
  }

  /** Uses another key from now on: a new post has its id after the first save. */
  rename(key) {
    if (key === this.key) return;
    const before = this.id;
    this.key = key;
    try {
      const text = this.storage.getItem(before);
      if (text !== null) this.storage.setItem(this.id, text);
      this.storage.removeItem(before);
    } catch {
      // The next write tries again.
    }
  }

  /**
   * Copies of other views of this post, newest first.
   *
   * @returns {Copy[]}
   */
  others() {
    const out = [];
    try {
      for (let n = 0; n < this.storage.length; n += 1) {
        const id = this.storage.key(n);
        if (!id?.startsWith(`${PREFIX}${this.key}:`) || id === this.id) continue;
        const copy = JSON.parse(this.storage.getItem(id));
        if (Array.isArray(copy?.fields) && typeof copy.time === "number") out.push({ ...copy, id });
      }
    } catch {
      // A damaged copy hides those after it only.
    }
    return out.sort((a, b) => b.time - a.time);
  }
}
