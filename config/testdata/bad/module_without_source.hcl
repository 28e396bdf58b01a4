module "a" { x = 1 }
# error 1:1 no source
