// Package jsondoc reads JSON strictly, because deployster acts on it: exactly one value,
// no duplicate keys, exact-case keys, bounded depth, every digit of every number kept,
// and valid UTF-8. It writes the canonical form (sorted keys, compact, same digits).
// Bytes come in; values, members and bytes go out. Only this package uses the library
// jsontext.
package jsondoc
