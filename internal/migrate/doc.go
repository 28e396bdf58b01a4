// Package migrate converts a Terraform directory to manifests and a state: its
// configuration and its state file come in, files and entries go out. It runs nothing,
// and changes nothing; it reports by name everything that cannot be migrated.
package migrate
