// Prints the common output of every project; returns the rest.
def output = new File(basedir, 'target/output.txt').readLines()
assert output.take(5) == [
    'Plant[name=fern, tag=shade]',
    'Plant[name=moss, tag=null]',
    'org.plantstore.domain.PlantIdTakenException: id 1 is taken by another plant',
    'name must not contain U+0000, but has it at index 4',
    'tag must not contain an unpaired surrogate, but has it at index 0']

// Of this build only the domain is fetched: no parent, no other module.
new File(basedir, 'build.log').eachLine {
  assert !it.contains('/org/plantstore/') || it.contains('/org/plantstore/plant-domain/')
}

return output.drop(5)
