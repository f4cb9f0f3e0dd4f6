// Every npm script that runs TypeScript begins with this file. When the Node is too old or the packages are not
// installed, it prints one sentence that says what to do. Old syntax and CommonJS on purpose: any Node can run it.
'use strict';

const engines = require('../package.json').engines;
const needed = engines.node.replace('>=', '').split('.').map(Number);
const found = process.versions.node.split('.').map(Number);
const isTooOld = found[0] < needed[0] || (found[0] === needed[0] && found[1] < needed[1]);

function isInstalled() {
  try {
    require.resolve('esbuild');
    return true;
  } catch (error) {
    return error.code !== 'MODULE_NOT_FOUND';
  }
}

function complain(sentence) {
  console.error(sentence);
  process.exitCode = 1;
}

if (!isInstalled()) {
  complain('The packages are not installed yet: run npm ci --ignore-scripts=false first.');
} else if (isTooOld) {
  complain(
    'tapfix needs Node ' +
      needed.join('.') +
      ' or newer, and this is ' +
      process.version +
      ': run npm ci --ignore-scripts=false, which brings its own Node, or install a newer one.',
  );
}
