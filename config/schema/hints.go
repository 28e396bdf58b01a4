package schema

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"deployster/internal/base/words"
)

// Hints for users who know Terraform: what to write instead of a name from Terraform,
// by the block that has it.
var (
	checkHints = map[string]string{
		"data": "What only this check reads is a resource block in it: resource \"NAME\" { type = ..., config = { ... } }. Its " +
			"assertions use resource.NAME.state.",
	}
	rootHints = map[string]string{
		"data": "There are no data sources: resource.NAME.state is what a resource reported. To read an object and never change it, " +
			"declare it as a resource with read_only = true, or as a resource in the check block that alone uses it. The " +
			"outputs of another project are read with a remote_state block.",
		"provider": "There are no providers: the type of a resource is a container image, which brings its own tools. What it must know " +
			"goes into config, files and credentials into a plug block, environment variables into the env of a type block.",
		"terraform": "The settings of this tool stand in a deployster block: required_version, and state for the state file. There are " +
			"neither backends nor required_providers.",
		"import": "What exists already needs no import: its type finds it, and the plan adopts it.",
		"hosts":  "Each host has a block of its own: host \"NAME\" { address = ... }.",
		"local":  "Local values stand in a block `locals { NAME = VALUE }`.",
		"ephemeral": "A value that must not be shown is a variable with sensitive = true, or one that its image's Schema marks " +
			"writeOnly. " +
			"One that must be recorded nowhere comes from a secret block.",
		"variables": "Each variable has a block of its own: variable \"NAME\" { }. Values for them go into vars.auto.hcl.",
		"outputs":   "Each output has a block of its own: output \"NAME\" { value = ... }.",
		"resources": "Each resource has a block of its own: resource \"NAME\" { type = ... }.",
	}
	resourceHints = map[string]string{
		"provisioner": "The image of a resource decides what must be done, as actions. Commands of one's own are a type of " +
			"one's own: see docs/writing-a-type.md.",
		"connection": "An image has its own way to reach what it manages: what it needs for that goes into config. To run the image " +
			"itself on another machine, declare that with a host block and write host = host.NAME.",
		"provider": "There are no providers: the type of a resource is a container image, type = \"acme/disk:1\" or type = type.NAME.",
		"dynamic": "config is one value, so that no blocks need to be made: write a list, for example disks = [for d in var.disks : { " +
			"size = d }].",
		"image": "The image of a resource is its type: type = \"acme/disk:1\".",
	}
	moduleHints = map[string]string{
		"version": "Modules are directories of this machine, which have no versions: fetch the version that you want with the tool for " +
			"that.",
		"providers": "There are no providers to hand on: a module gets variables, and the plugs of the manifest.",
	}
	remoteHints = map[string]string{"backend": "The url names the other state: url = \"s3://BUCKET/PATH\", or the path of its file."}
	hostHints   = map[string]string{
		"host":         "Where it is reached is its address: a name, an address, or an alias of ssh's config.",
		"hostname":     "Where it is reached is its address: a name, an address, or an alias of ssh's config.",
		"password":     "There are no passwords: ssh must log in with a key or an agent, without a prompt. For sudo it is the same.",
		"private_key":  "A key is a file that ssh reads: identity_file = \"~/.ssh/deploy\".",
		"key":          "A key is a file that ssh reads: identity_file = \"~/.ssh/deploy\".",
		"bastion_host": "The machine on the way is jump = \"USER@NAME:PORT\", as for ssh -J.",
		"become":       "To become root there: sudo = true.",
	}
	kubernetesHints = map[string]string{
		"address": "A cluster is reached as kubeconfig declares: context names the context, and kubeconfig the file.",
		"image":   "The image of deployster-pod is the agent: agent = \"REPOSITORY@sha256:...\".",
		"pod":     "A Pod has no template here: each setting of it has an attribute of its own.",
	}
	policyHints = map[string]string{
		"enforcement_level": "How strict a policy is, is its level: level = \"advisory\", \"overridable\" or \"mandatory\".",
		"image":             "The image of a policy is its type: type = \"acme/policy:1\".",
		"deny":              "What is denied stands in a rule block: rule { deny = [...], message = \"...\" }.",
	}
	ruleHints = map[string]string{
		"condition":     "A rule lists what it denies: deny = [for a, r in plan.resources : a if ...], or deny = true for all.",
		"error_message": "The text of a rule is its message.",
		"level":         "The level is that of the policy: write it next to the rule.",
	}
	valueHints = map[string]string{
		"ephemeral": "A value that must not be shown has sensitive = true.",
	}
)

var quotedName = regexp.MustCompile(`"([^"]*)"`)

// Hint adds to an error about an unknown block or attribute what to write instead.
func (s Schema) Hint(d *hcl.Diagnostic) {
	if strings.HasPrefix(d.Summary, "Extraneous label for ") {
		d.Summary, d.Detail = "Too many labels", fmt.Sprintf("%s A block has one label at the most, its name.", d.Detail)
		if strings.Contains(d.Detail, "resource") {
			d.Detail = "A resource has one label, its name. Its type is an attribute, and is a container image: " +
				`resource "web" { type = "acme/vm:1" }.`
		}
		return
	}
	name := quotedName.FindStringSubmatch(d.Detail)
	if name == nil || !strings.HasPrefix(d.Summary, "Unsupported ") && d.Summary != "Extraneous JSON object property" {
		return
	}
	text := s.hints[name[1]]
	if text == "" && s.otherwise != nil {
		text = s.otherwise(s, name[1], d.Summary == "Unsupported argument")
	}
	d.Detail, _, _ = strings.Cut(d.Detail, " Did you mean ") // HCL's suggestion only compares letters
	if text == "" {
		if text = words.DidYouMean(name[1], s.Names()); text == "" {
			text = s.whatCanStand()
		}
	}
	if text != "" {
		d.Detail += " " + strings.TrimPrefix(text, " ")
	}
}

// ModuleHint returns what to write instead of an argument of a module block that is known from Terraform, "" if it is not.
func ModuleHint(name string) string { return moduleHints[name] }

// rootHint returns the hint for an unknown name at the top of a manifest.
func rootHint(s Schema, name string, argument bool) string {
	if !argument || words.DidYouMean(name, s.Names()) != "" {
		return ""
	}
	return "At the top of a manifest stand blocks alone. Every file of the directory whose name ends in .hcl is a manifest: values for " +
		"variables stand in vars.auto.hcl or, as the config for a `type test`, in a file in another directory. " + s.whatCanStand()
}

// resourceHint returns the hint for an unknown name in a resource block.
func resourceHint(s Schema, name string, _ bool) string {
	if words.DidYouMean(name, s.Names()) != "" {
		return ""
	}
	return fmt.Sprintf("What the image is to get goes into config: config = { %s = ... }. Next to it are allowed: %s.", name,
		strings.Join(s.Names(), ", "))
}
