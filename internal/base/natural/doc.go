// Package natural sorts names with their numbers in numeric order: r2 comes before r10.
// It owns the one order in which addresses are listed for people and in arrays of JSON.
// Names come in, their order goes out. Members of JSON objects are not sorted by it,
// because digests depend on their order.
package natural
