// Package artifacts stands between the engine and the images of types: it gives the
// engine files of artifacts for the mounts that name them, and lets publishes be asked
// and carried out as resources are. It owns what a publish is decided by, and the words
// about puts whose end nobody knows. A client of types, one of artifacts and a store come
// in; what plan and apply want of a client goes out.
package artifacts
