// Package artifacts stands between the engine and the images of types: it gives the
// engine the files of artifacts for the mounts that name them, and makes publishes look
// like resources in plan and apply. It owns how the action of a publish is decided, and
// the messages about puts whose end is unknown. A client of types, one of artifacts and a
// store come in; what plan and apply need of a client goes out.
package artifacts
