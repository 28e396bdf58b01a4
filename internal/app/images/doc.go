// Package images brings in the images that manifests name, pins them, and looks
// after those that are here.
//
// It owns on which terms an image is taken: lock file, pull policy, signature. What
// manifests and people want comes in; digests and lists go out. A Runtime stores
// them.
package images
