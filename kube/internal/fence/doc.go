// Package fence lets one client at a time act for a state in a namespace. Its record is a Lease: who was admitted
// last, and which Pods were about to be created for actions. Whoever is older, or finds the Lease missing or replaced,
// starts nothing. No clock is involved.
package fence
