// Package images fetches the images that manifests name, pins them, and manages those
// that are here.
//
// It owns on which terms an image is accepted: lock file, pull policy, signature. The
// needs of manifests and people come in; digests and lists go out. A Runtime stores
// the images.
package images
