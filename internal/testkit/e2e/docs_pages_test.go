package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestDocs_Pages does what docs/ci.md, docs/publishing.md, docs/plan-and-apply.md, docs/watch.md, docs/images.md,
// docs/json.md, docs/operations.md, docs/rollback.md, docs/testing.md, docs/modules.md, docs/policy.md and docs/secrets.md describe, with a real registry in the place of the one that they name, and a real plan's digest.
func TestDocs_Pages(t *testing.T) {
	t.Parallel()
	shell := func(page string) []string { return fences(read(t, page), "sh") }
	ci, publishing, reviews, parts := shell("docs/ci.md"), shell("docs/publishing.md"), shell("docs/reviews.md"), shell("docs/plan-and-apply.md")
	watch, images, json := shell("docs/watch.md"), shell("docs/images.md"), shell("docs/json.md")
	if len(ci) != 3 || len(publishing) != 2 || len(reviews) < 2 || len(parts) != 2 {
		t.Fatalf("%d, %d, %d and %d examples were found", len(ci), len(publishing), len(reviews), len(parts))
	}
	if len(watch) != 2 || len(images) != 1 || len(json) != 1 {
		t.Fatalf("%d, %d and %d examples were found", len(watch), len(images), len(json))
	}
	scripts := map[string]string{"ci-plan.sh": ci[0], "ci-apply.sh": ci[1], "ci-events.sh": ci[2], "publish.sh": publishing[0], "keys.sh": "",
		"verify.block": "", "selections.sh": parts[0], "drift.sh": parts[1], "watch.sh": watch[0], "watch-plan.sh": watch[1], "images.sh": images[0],
		"json.sh": json[0]}
	for _, text := range reviews {
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "openssl ") {
				scripts["keys.sh"] += line
			}
		}
	}
	scripts["operations.sh"], scripts["operations.manifest"] = shell("docs/operations.md")[0], fences(read(t, "docs/operations.md"), "hcl")[0]
	scripts["rollback.sh"] = shell("docs/rollback.md")[0]
	for _, text := range fences(read(t, "docs/publishing.md"), "hcl") {
		scripts["verify.block"] += text
	}
	cases, rules := fences(read(t, "docs/testing.md"), "hcl"), fences(read(t, "docs/policy.md"), "hcl")
	expected := fences(read(t, "docs/policy.md"), "json")
	if len(cases) != 2 || len(rules) != 2 || len(expected) != 3 {
		t.Fatalf("%d, %d and %d examples were found", len(cases), len(rules), len(expected))
	}
	scripts["shop.manifest"], scripts["shop.cases"], scripts["rules.manifest"], scripts["expect.json"] = cases[0], cases[1], rules[0], expected[0]
	modules, share := fences(read(t, "docs/modules.md"), "hcl"), shell("docs/modules.md")
	if len(modules) != 1 || len(share) != 4 {
		t.Fatalf("%d and %d examples were found", len(modules), len(share))
	}
	scripts["modules.manifest"], scripts["tag.sh"], scripts["pack-module.sh"], scripts["use-modules.sh"] = modules[0], share[0], share[1], share[2]+share[3]
	secrets, programs := fences(read(t, "docs/secrets.md"), "hcl"), shell("docs/secrets.md")
	if len(secrets) != 2 || len(programs) != 2 {
		t.Fatalf("%d and %d examples were found", len(secrets), len(programs))
	}
	scripts["secrets.manifest"], scripts["decrypt.sh"], scripts["pack-secret.sh"] = secrets[0], programs[0], programs[1]
	runScripts(t, "testdata/pages", func(env *testscript.Env) error {
		for name, text := range scripts {
			text = strings.ReplaceAll(text, "sha256:...", "$(deployster show -digest plan.bin)")
			text = strings.ReplaceAll(text, "registry.example.com", "$REGISTRY")
			text = strings.ReplaceAll(text, "https://git.example.com", "http://$GIT_HTTP")
			if err := os.WriteFile(filepath.Join(env.WorkDir, name), []byte(text), 0o600); err != nil {
				return err
			}
		}
		return nil
	})
}
