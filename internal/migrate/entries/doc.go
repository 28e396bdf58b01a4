// Package entries completes the entries of a migrated state: the new manifests and the
// objects of Terraform's state come in, the entries get the configs with which a first plan
// finds no change.
package entries
