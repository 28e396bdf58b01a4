module "a" { source = "web" }
# error 1:23 did you mean ./web
