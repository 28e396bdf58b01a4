// Package draft makes plans: it obtains the images and the versions of artifacts that a plan
// needs, and has the types queried. A manifest, a state and a selection come in; a plan goes out,
// with the clients that answer the queries of its apply.
package draft
