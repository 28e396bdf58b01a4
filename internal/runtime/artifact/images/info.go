package images

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"deployster/internal/base/diag"
	"deployster/internal/base/jsondoc"
	"deployster/internal/runtime/artifact"
	"deployster/internal/runtime/runner/typeclient"
	"deployster/protocol"
)

// Info implements artifact.Client.
func (c *Client) Info(ctx context.Context, t artifact.Target) (artifact.Info, error) {
	digest, err := c.o.Types.Digest(ctx, target(t))
	if err != nil {
		return artifact.Info{}, err
	}
	settings, err := json.Marshal(t.Settings)
	if err != nil {
		return artifact.Info{}, err
	}
	return ask(ctx, &c.mu, c.infos, digest+" "+t.Reference+" "+string(settings), func() (artifact.Info, error) {
		i, err := c.info(ctx, t, digest)
		i.Digest, i.Reference = digest, t.Reference
		return i, err
	})
}

func (c *Client) info(ctx context.Context, t artifact.Target, digest string) (artifact.Info, error) {
	paths := artifact.ConcoursePrograms()
	has, err := c.o.Inspector.Has(ctx, digest, paths...)
	if err != nil {
		return artifact.Info{}, typeclient.Failed(target(t), artifact.StepInfo, err, "Cannot read the files of the image",
			"Image %s: %s", diag.Visible(t.Reference), diag.Visible(err.Error()))
	}
	if has[0] || has[1] || has[2] {
		i := artifact.Info{Protocol: artifact.Concourse1, Check: protocol.Command{Entrypoint: paths[0]},
			Get: protocol.Command{Entrypoint: paths[1], Args: []string{getDir}}}
		if has[2] {
			i.Put = &protocol.Command{Entrypoint: paths[2], Args: []string{putDir}}
		}
		return i, nil
	}
	answer, err := c.o.Types.AskInfo(ctx, target(t), digest, func(answer []byte) bool {
		_, keep, err := readInfo(answer)
		return keep && err == nil
	})
	var exit *typeclient.ExitError
	if err != nil && !errors.As(err, &exit) {
		return artifact.Info{}, classed(err)
	}
	if err != nil {
		return artifact.Info{}, foreign(t, err, "It has no /opt/resource/check, and ended info with exit code %d.", exit.Code)
	}
	i, _, err := readInfo(answer)
	switch {
	case errors.Is(err, errNoArtifacts) && typeclient.IsType(answer):
		return i, foreign(t, err, "It is a resource type: use it in a resource block.")
	case errors.Is(err, errNoArtifacts):
		return i, foreign(t, err, "It has no /opt/resource/check, and its answer to info has no \"artifacts\".")
	case err != nil:
		return i, classed(c.o.Types.Broken(target(t), typeclient.Ask{Step: artifact.StepInfo}, answer, err))
	}
	return i, nil
}

// foreign is the error about an image that is not an artifact image.
func foreign(t artifact.Target, cause error, why string, args ...any) error {
	cause = &artifact.Error{Class: artifact.Foreign, Err: cause}
	return typeclient.Failed(target(t), artifact.StepInfo, cause, "The image does not provide artifacts",
		"Image %s does not declare its kind. %s See docs/artifact-images.md for the images that are allowed "+
			"here.", diag.Visible(t.Reference),
		fmt.Sprintf(why, args...))
}

var errNoArtifacts = errors.New("it has no \"artifacts\"")

// readInfo reads the answer to info. For an answer without artifacts, or one that is not
// JSON, it returns errNoArtifacts.
func readInfo(answer []byte) (i artifact.Info, keep bool, err error) {
	o, err := jsondoc.Object(answer)
	if err != nil || o["artifacts"] == nil {
		return i, false, errNoArtifacts
	}
	if is := jsondoc.KindOf(o["artifacts"]); is != "an object" {
		return i, false, fmt.Errorf("\"artifacts\" is %s, and must be an object", is)
	}
	a, err := jsondoc.Object(o["artifacts"])
	if err != nil {
		return i, false, err
	}
	if i.APIVersion, err = text(`"artifacts.api_version"`, a["api_version"]); err != nil {
		return i, false, err
	}
	if i.APIVersion != "2" && !strings.HasPrefix(i.APIVersion, "2.") {
		return i, false, fmt.Errorf("it uses api_version %q, and this deployster supports 2.x", i.APIVersion)
	}
	i.Protocol = artifact.Artifacts2
	if i.Check, err = command("check", a["check"]); err != nil {
		return i, false, err
	}
	if i.Get, err = command("get", a["get"]); err != nil {
		return i, false, err
	}
	if a["put"] != nil {
		put, err := command("put", a["put"])
		if err != nil {
			return i, false, err
		}
		i.Put = &put
	}
	if a["delete"] != nil {
		remove, err := command("delete", a["delete"])
		if err != nil {
			return i, false, err
		}
		i.Delete = &remove
	}
	return i, string(o["cache"]) != "false", nil
}

// command reads a command: a string, or an entrypoint with its arguments.
func command(name string, raw json.RawMessage) (cmd protocol.Command, err error) {
	what := fmt.Sprintf("\"artifacts.%s\"", name)
	switch {
	case raw == nil:
		return cmd, fmt.Errorf("%s is missing", what)
	case raw[0] == '"':
		line, err := text(what, raw)
		if err != nil {
			return cmd, err
		}
		words, err := split(line)
		if err == nil && len(words) == 0 {
			err = errors.New("is empty")
		}
		if err != nil {
			return cmd, fmt.Errorf("%s %w", what, err)
		}
		return protocol.Command{Entrypoint: words[0], Args: words[1:]}, nil
	case raw[0] != '{':
		return cmd, fmt.Errorf("%s is %s, and must be text or an object", what, jsondoc.KindOf(raw))
	}
	if err := jsondoc.DecodeStrict(raw, &cmd); err != nil {
		return cmd, fmt.Errorf("%s: %w", what, err)
	}
	switch {
	case cmd.Image != "":
		return cmd, fmt.Errorf("%s names another image, which is not allowed for artifacts", what)
	case cmd.Entrypoint == "" && len(cmd.Args) == 0:
		return cmd, fmt.Errorf("%s has neither an entrypoint nor args", what)
	}
	for _, word := range append([]string{cmd.Entrypoint}, cmd.Args...) {
		if strings.ContainsRune(word, 0) {
			return cmd, fmt.Errorf("%s contains a zero byte", what)
		}
	}
	return cmd, nil
}

// split splits a command at its blanks. ' and " quote; nothing is expanded.
func split(line string) (words []string, err error) {
	var word strings.Builder
	begun, quote := false, rune(0)
	for _, r := range line {
		switch {
		case r == 0:
			return nil, errors.New("holds a zero byte, which no argument can")
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, begun = r, true
		case quote == 0 && strings.ContainsRune(" \t\r\n", r):
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("has a quote %c that is not closed", quote)
	}
	if begun {
		words = append(words, word.String())
	}
	return words, nil
}
