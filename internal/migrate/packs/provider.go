package packs

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// access is what a provider needs of the files of the project.
type access int

const (
	noFiles access = iota
	readsFiles
	writesFiles
)

// FilesPlug is the plug by which providers get the directory of the project, at filesDir in the container, where they start:
// so a relative path leads to the same file as in Terraform.
const (
	FilesPlug = "files"
	filesDir  = "/work"
)

// Provider is a provider that resources use; it is an image in the new manifests.
type Provider struct {
	Name    string // of the type block
	Address string // registry.terraform.io/hashicorp/aws
	Version string
	files   access          // what it needs of the files of the project
	add     map[string]bool // the flags of image pack for the programs that it starts
}

// NewProvider returns a provider that needs no files and no programs.
func NewProvider(name, address, version string) *Provider {
	return &Provider{Name: name, Address: address, Version: version, add: map[string]bool{}}
}

// Image returns the reference of the image.
func (p *Provider) Image() string { return "tf/" + p.Name + ":" + p.Version }

// NeedsFiles reports whether it gets the directory of the project, by the plug FilesPlug.
func (p *Provider) NeedsFiles() bool { return p.files != noFiles }

// Command returns the command that builds the image.
func (p *Provider) Command() string {
	dir := path.Join(".terraform/providers", p.Address, p.Version, "linux_amd64")
	return fmt.Sprintf("deployster image pack -terraform-provider %s%s -t %s", dir, p.flags(), p.Image())
}

// flags returns the flags of image pack for what a provider needs besides its binary.
func (p *Provider) flags() string {
	var b strings.Builder
	if p.files != noFiles {
		fmt.Fprintf(&b, " -plug %s=%s", FilesPlug, filesDir)
		if p.files == writesFiles {
			b.WriteString(":rw")
		}
		b.WriteString(" -workdir " + filesDir)
	}
	for _, flag := range slices.Sorted(maps.Keys(p.add)) {
		b.WriteString(" " + flag)
	}
	return b.String()
}

// is reports whether it is a provider of HashiCorp with this name.
func (p *Provider) is(name string) bool { return strings.HasSuffix(p.Address, "/hashicorp/"+name) }
