// Package registry reaches registries of images: with certificates, hosts.toml and
// docker's credentials, and lists tags. Options and the name of a host come in;
// containerd's resolver, and explanations for errors of a registry, go out.
package registry
