// Package otherkinds tests images that are not resource types: policies, and images that send notifications or read a secret. What
// runs an image and a config come in, and what is wrong with its answers goes out. The value of a secret is in no text of it.
package otherkinds
