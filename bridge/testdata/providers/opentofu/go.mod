module opentofu

go 1.26.8

require github.com/opentofu/opentofu v1.8.0

replace github.com/hashicorp/hcl/v2 => github.com/opentofu/hcl/v2 v2.0.0-20240416130056-03228b26f391
