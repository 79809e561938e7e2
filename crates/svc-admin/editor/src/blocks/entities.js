// Character references in stored content.

/** Names of U+00A0 to U+00FF in order. */
const LATIN = (
  "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute " +
  "micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig " +
  "Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash " +
  "Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute " +
  "ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc " +
  "uuml yacute thorn yuml"
).split(" ");

const NAMES = new Map(LATIN.map((name, n) => [name, String.fromCharCode(0xa0 + n)]));
for (const [name, text] of Object.entries({
  amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", hellip: "…", ndash: "–", mdash: "—", lsquo: "‘", rsquo: "’",
  sbquo: "‚", ldquo: "“", rdquo: "”", bdquo: "„", lsaquo: "‹", rsaquo: "›", bull: "•", trade: "™", euro: "€",
  larr: "←", uarr: "↑", rarr: "→", darr: "↓", minus: "−", OElig: "Œ", oelig: "œ", Scaron: "Š", scaron: "š", Yuml: "Ÿ",
})) {
  NAMES.set(name, text);
}

/**
 * Text with its character references replaced. Returns null for one that is not known here, or that browsers read as
 * another character than it names. A lone `&` is text.
 *
 * @param {string} text
 * @returns {string | null}
 */
export function decode(text) {
  if (!text.includes("&")) return text;
  let known = true;
  const out = text.replace(/&(?:#(\d+)|#[xX]([0-9a-fA-F]+)|([a-zA-Z][a-zA-Z0-9]*))(;?)/g, (whole, decimal, hex, name, end) => {
    if (name !== undefined) {
      // Browsers decode some names without semicolon. `&b=1` in a URL is none of them.
      if (!end) {
        for (const prefix of NAMES.keys()) known &&= !name.startsWith(prefix);
        return whole;
      }
      const found = NAMES.get(name);
      known &&= found !== undefined;
      return found ?? whole;
    }
    const code = decimal === undefined ? parseInt(hex, 16) : parseInt(decimal, 10);
    const plain = code >= 0xa0 || (code >= 0x20 && code < 0x7f) || code === 9 || code === 10;
    known &&= Boolean(end) && plain && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
    return known ? String.fromCodePoint(code) : whole;
  });
  return known ? out : null;
}
