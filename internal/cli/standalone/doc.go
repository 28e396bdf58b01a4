// Package standalone has the commands that neither plan nor apply: new, version and migrate.
// Values from flags come in; text or JSON for people and programs goes out, and files into
// the directory that the user names. It starts no containers.
package standalone
