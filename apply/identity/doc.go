// Package identity handles identities of resources that become known only while an apply runs. A
// step and its config come in, the resource that has the same object goes out, or that it is
// another object than the recorded one. It changes nothing but the claims among the facts.
package identity
