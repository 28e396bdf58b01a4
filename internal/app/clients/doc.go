// Package clients makes what answers the queries of a plan and of its apply: a client for types of
// images, and one for artifacts where a manifest has them. A manifest, a state and images come in;
// clients go out, with the manifest that has the versions of its artifacts.
package clients
