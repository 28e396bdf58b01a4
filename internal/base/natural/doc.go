// Package natural sorts names as people count: r2 comes before r10. It owns the one
// order in which addresses are listed for people and in arrays of JSON. What comes
// in is names, what goes out is their order. Members of JSON objects are not sorted
// by it: digests are made of them.
package natural
