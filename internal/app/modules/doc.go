// Package modules owns the modules that registries and repositories of git have: it fetches them,
// checks them against the pins of the lock file, keeps them on this machine, and packs modules as images.
//
// The sources of manifests come in, and a lock file; the files of modules and new pins go out.
package modules
