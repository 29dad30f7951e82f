// SPDX-License-Identifier: MIT
// VitePress's own theme with the system's fonts, and what style.css changes.

import DefaultTheme from 'vitepress/theme-without-fonts'
import './style.css'

export default DefaultTheme
