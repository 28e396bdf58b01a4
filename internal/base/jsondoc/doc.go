// Package jsondoc reads JSON the way a tool must that acts on it: exactly one
// value, no duplicate keys, exact-case keys, bounded depth, every digit of every
// number kept, and valid UTF-8. It writes the canonical form (sorted keys,
// compact, same digits), and masks what must not be shown. Bytes come in; values,
// members and bytes go out. It is the one place that knows the library jsontext.
package jsondoc
