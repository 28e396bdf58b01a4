// Package migrate converts the configuration and the state file of a Terraform directory to manifests and entries.
// It runs and changes nothing, and reports by name everything that cannot be migrated.
package migrate
