// Package write makes manifests: configs come in, files of resource blocks go out.
package write
