// Package imagestore is the vocabulary of a store of images: what lists, pulls,
// packs and prunes them (the containerd package) and what people see of that (the
// app, ui and cli packages) share these words. It owns the types and the names of
// images; references as users write them come in, full names go out.
package imagestore
